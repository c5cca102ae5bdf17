import streamlit as st

from dpgp_core.release.private_table import complete_rows
from pages._ui.look import in_python, layout
from pages._ui.own import figures, form, intake, ledger, steps
from pages._ui.scripts import releases

account = ledger.account()
layout.heading(
    "Publish a curve from your own table",
    "Upload a table and say what is public about it. You get values, a figure and a card that you may publish. "
    + ledger.so_far(account),
)
if in_figures := ledger.metrics(account):
    layout.metrics(in_figures)
    if why := ledger.about_left(account):
        st.caption(why)
table = intake.table()
account = ledger.account(table)
spec = form.declared(table, account.ledger) if table else None
prepared = steps.ready(table, spec) if table and spec else None
if table and spec and prepared:
    st.header("4. Release")
    people, rows_left_out = spec.person is not None, prepared.rows_left_out
    st.markdown(
        f"{complete_rows(prepared.plan.n, prepared.left_out, rows_left_out, people=people)} read. "
        f"{figures.interval_sentence(spec, prepared.plan.half_width, prepared.plan.step)} "
        f"{figures.inference_sentence(prepared.plan.inference)}"
    )
    steps.warn(prepared)
    steps.show_plan(prepared)
    steps.release(table, prepared, account)
    layout.guarantee_card(
        spec.guarantee,
        "The noise of a real release comes from the operating system and is not kept: nobody can reproduce it."
        + (f" {steps.INPUTS_PUBLIC}" if account.ledger.inputs_public else ""),
    )
else:
    steps.fetch_again(account)
with st.expander(in_python.TITLE):
    in_python.draw(releases.own_release())
    if spec:
        releases.configuration(spec, "declared")
ledger.sidebar(ledger.account(table))
