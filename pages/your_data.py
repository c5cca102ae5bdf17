import streamlit as st

from pages._ui import frame, own_figures, own_form, own_session, own_steps

account = own_session.account()
frame.heading(
    "What may be published from your own table?",
    "Upload a table, declare what is public about it, and take home predictions with noise that hides any one record: "
    "a file that you may publish, with a card that says what is promised. "
    + own_figures.so_far(len(account.entries), account.limit, account.spent),
)
frame.metrics(own_figures.metrics(len(account.entries), account.limit, account.spent, account.left))
if account.interrupted:
    own_steps.interrupted()
held = own_steps.table()
spec = own_form.declared(held.columns, account.limit) if held else None
found = own_steps.ready(held, spec) if held and spec else None
if held and spec and found:
    st.subheader("4. Release")
    st.markdown(
        f"{found.n:,} rows read. {own_figures.noise_sentence(spec, found.noise_sd, found.step)} "
        f"{own_figures.inference_sentence(found.inference)}"
    )
    own_steps.preview(held, spec)
    own_steps.release(held, spec, account)
    frame.guarantee_card(
        spec.guarantee,
        "The noise of a real release comes from the operating system and is not kept: nobody can draw it again.",
    )
elif account.last is not None:
    own_steps.download(account.last, again=True)
own_steps.ledger(own_session.account())
