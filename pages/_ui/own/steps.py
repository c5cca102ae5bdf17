"""Steps of a release: plan, guarantee, ledger, release; and its errors at other budgets."""

from __future__ import annotations

import io
import math
import zipfile
from dataclasses import replace

import pandas as pd
import streamlit as st

from dpgp_core.accounting.ledger import BudgetExceeded, MixedRows
from dpgp_core.arrays import FloatArray
from dpgp_core.release import Published, ReleaseSpec, expected_half_widths
from dpgp_core.release.check import CARD
from dpgp_core.release.json_text import guarantee_from_object, read_object, spec_from_object
from dpgp_core.release.private_table import large_delta, probably_wrong, to_owner
from dpgp_core.release.publishing import finding, within_tolerance
from pages._ui.explore.statistic import EXPLORED, Upload
from pages._ui.ledgers.state import DELIVERIES, Issued
from pages._ui.ledgers.store import Account
from pages._ui.look import pictures
from pages._ui.look.about import About
from pages._ui.look.pictures import as_it_is
from pages._ui.look.text import at_least, number, plain
from pages._ui.own import figures, ledger, upload
from pages._ui.own.slots import (
    OWN_LEDGER_TOKEN,
    OWN_OUTLOOK,
    OWN_READY,
    OWN_REFUSED,
    OWN_RELEASED,
)
from pages._ui.own.upload import OUTLOOK, Prepared, Table
from pages._ui.scripts import releases
from pages._ui.work import cached
from pages._ui.work.jobs import WorkStopped

_SAME_TABLE = (
    "Another ledger counts releases of this very table. Its people are the same, so what was spent on them stays "
    "spent, and what is spent now comes on top of it. Go on with that ledger by its token, in the sidebar. A release "
    "here is refused, unless you say below why the other count does not matter; the reason will be on the release's "
    "card."
)
_OTHER_TABLE = (
    "This ledger has not counted this file before. If it is about the same people, this ledger is the right one. "
    "If it is about other people, begin a new ledger in the sidebar."
)
_MIXING = (
    "This ledger holds releases that protect **{before}**, and this one protects **{now}**. A release that protects "
    "outputs only publishes functions of the inputs without noise, such as where the model is certain. Next to "
    "it no release protects inputs, whatever its card says. It is refused unless the inputs are public."
)
INPUTS_PUBLIC = (
    "Inputs count as public in this ledger, as declared on this page. Therefore only outputs are protected, whatever "
    "the card of a single release says."
)


def recount_reason(spec: ReleaseSpec, account: Account) -> str:
    """Ask before a release about an earlier count of the table, and whether inputs are private in one release but not
    in another.

    A ledger refuses to count both kinds; the visitor may declare the inputs public, which cannot be undone.

    Returns:
        Why another ledger's count of this table does not matter, in the visitor's words; "" if they gave no reason.
    """
    because = ""
    if account.elsewhere and not account.counts:
        st.warning(_SAME_TABLE, icon=":material/history:")
        because = st.text_input("Why the other count does not matter", key="own_because", max_chars=300)
    elif account.ledger.entries and not account.counts:
        st.info(_OTHER_TABLE, icon=":material/help:")
    if account.ledger.inputs_public:
        st.info(INPUTS_PUBLIC, icon=":material/lock_open:")
    elif (protects := {guarantee.protects for _, guarantee in account.ledger.entries}) - {spec.guarantee.protects}:
        before = " and ".join(sorted(protects))
        st.warning(_MIXING.format(before=before, now=spec.guarantee.protects), icon=":material/lock_open:")
        st.button("Treat inputs as public from now on", on_click=ledger.make_inputs_public, key="own_inputs_public")
    return because


def protection_refusal(spec: ReleaseSpec, account: Account) -> str:
    """Return why the ledger would refuse a release, in a sentence; "" if it would not.

    Releases with private inputs after ones with public inputs, and the reverse, are asked about elsewhere.
    """
    counted = account.ledger
    if counted.limit is None:
        return ""
    try:
        replace(counted, entries=list(counted.entries), inputs_public=True).spend([("release", spec.guarantee)])
    except (BudgetExceeded, MixedRows) as error:
        return str(error)
    return ""


def show_plan(prepared: Prepared) -> None:
    """Draw error against budget for this design, computed on a click. It reads no output."""
    spec = prepared.plan.spec
    if spec.bounds_unit is not None:
        return  # an error in the output's unit cannot be stated before its bounds are known
    with st.expander("What would other budgets give?"):
        if st.button("Work it out: costs nothing, reads no output"):
            doing = "Working out other budgets"
            OWN_OUTLOOK.put((spec, cached.of_one_session(doing, expected_half_widths, prepared.plan, OUTLOOK)))
        widths = OWN_OUTLOOK.of(spec)
        if widths is None:
            return
        in_unit = figures.in_per_cent(spec, widths).tolist()
        written = [figures.factor(width) if spec.log else number(width) for width in in_unit]
        unit = figures.unit_of_change(spec)
        within = "a factor of" if spec.log else f"± [{unit}]" if unit else "±"
        table = pd.DataFrame({"ε": OUTLOOK, f"curve within {within}, 95 %": written})
        st.dataframe(table, hide_index=True, key="own_outlook_table")
        within = "a factor of" if spec.log else f"± [{plain(unit) or 'y'}]"
        wanted = st.number_input(f"I need the curve to within {within}", 0.0, value=None)
        if wanted is not None:
            st.markdown(answer(spec, widths, wanted / 100 if spec.y_kind == "yes/no" else wanted))


def answer(spec: ReleaseSpec, widths: FloatArray, wanted: float) -> str:
    """Return the smallest of the budgets that reaches the wanted precision."""
    needed = math.log(max(wanted, 1.0)) if spec.log else wanted
    enough = [epsilon for epsilon, width in zip(OUTLOOK, widths, strict=True) if width <= needed]
    if enough:
        return (
            f"**ε = {enough[0]:g}** is the smallest of these that gives {figures.error(spec, needed)} at half of the "
            "grid."
        )
    least = figures.error(spec, float(widths.min()))
    return (
        f"None of these does: at ε = {OUTLOOK[-1]:g} it is still {least}, of which privacy is a small part. "
        "More records, or a coarser question, would help; a larger ε hardly."
    )


_ANYWAY = "The declaration is meant so: release although it fits less than half of the table"
_NOTHING_LEFT = 1e-3  # digits of epsilon
_ZIP_GONE = (
    "The zip of the latest release was in the memory of a server that has stopped or forgotten it. What you have "
    "downloaded stays valid, and what it cost stays spent."
)
_NOT_MADE = "The release was counted but not completed, so there is no zip. Its budget stays spent."


def ready(table: Table, spec: ReleaseSpec) -> Prepared | None:
    """Read the table and plan the release; return None, with a sentence, if table and declaration do not fit."""
    doing = "Reading the table and designing the noise"
    try:
        result = OWN_READY.made(
            (table.digest, spec), lambda: cached.of_one_session(doing, upload.prepared, table, spec)
        )
    except ValueError as error:
        st.error(plain(f"{error}."))
        return None
    return replace(result, plan=result.plan.with_spec(spec))


def warn(prepared: Prepared) -> None:
    """Warn the owner before any budget is spent: about what is unusual in the table, and a delta above 1/n."""
    if prepared.notices:
        st.warning(plain(to_owner(prepared.notices)), icon=":material/visibility:")
    if too_large := large_delta(prepared.plan.spec.delta, prepared.plan.n):
        st.warning(plain(too_large), icon=":material/priority_high:")


def release(table: Table, prepared: Prepared, account: Account) -> None:
    """Draw the button that spends the budget, and the release."""
    spec, made = prepared.plan.spec, OWN_RELEASED.find()
    result = st.container()  # above the button, where visitors look after pressing it
    because = recount_reason(spec, account)
    refused = protection_refusal(spec, account)
    because_not = refused or _not_insisted_on(prepared)
    earlier, nothing_left = account.ledger.entries, bool(refused) and account.left < _NOTHING_LEFT
    label = f"Make release {len(earlier) + 1}: spends ε = {spec.epsilon:g}"
    if because_not:
        label = "No release: nothing is left" if nothing_left else "No release: see above"
        if made is not None and made[0].name in [name for name, _ in earlier[-1:]]:
            # the latest release is this session's own, so that nothing after a success looks like a failure
            more = f"Use epsilon = {at_least(account.left)} or less for another"
            rest = "The declared total is used up" if nothing_left else more
            st.caption(f"Release {len(earlier)} is made. {rest}.")
        else:
            st.info(plain(f"{because_not}."), icon=":material/block:")
    if st.button(label, type="primary", key="own_release", disabled=bool(because_not)):
        OWN_REFUSED.put(_make(table, prepared, because))
        st.rerun()  # the ledger is drawn in several places
    if refusal := OWN_REFUSED.pop():
        st.error(plain(refusal), icon=":material/block:")
    with result:
        if made is not None:
            _show(*made)
        else:
            fetch_again(account)


def _not_insisted_on(prepared: Prepared) -> str:
    """Return why a declaration is probably wrong, unless the visitor insists on it; "" if it is not."""
    wrong = probably_wrong(prepared.notices)
    return (
        ""
        if not wrong or st.checkbox(_ANYWAY, key="own_anyway")
        else f"Nothing is released yet, because {wrong.partition(':')[0]}"
    )


def fetch_again(account: Account) -> None:
    """Offer the latest zip, if this server still has it."""
    if (issued := DELIVERIES.find(account.id)) is not None:
        download(issued, again=True)
    elif len(account.ledger.entries) in account.unmade:
        st.caption(_NOT_MADE)
    elif account.ledger.entries:
        st.caption(_ZIP_GONE)


def _make(table: Table, prepared: Prepared, because: str) -> str:
    """Spend the budget, then release. Return the refusal; "" for none.

    Between these two steps nothing accesses the session: if the visitor has moved a control meanwhile, streamlit would
    end the run there, with the budget spent and nothing released.
    """
    with st.spinner("Releasing …"):
        try:
            spent = ledger.spend(prepared.plan.spec, table, because)
        except ValueError as error:
            return f"Refused: {error}."
        if spent.token is not None:
            OWN_LEDGER_TOKEN.put(spent.token)
        try:
            published = cached.unstoppable(upload.released, table, prepared.plan)
        except (ValueError, WorkStopped) as error:
            return f"{error}. The budget of this release is spent all the same: it may have been computed."
        issued = ledger.issued(spent, published)
    OWN_RELEASED.put((issued, published))
    st.toast("The release is made: see its values above the button.", icon=":material/verified_user:")
    return ""


def _show(issued: Issued, published: Published) -> None:
    spec = published.spec
    name = plain(issued.name[0].upper() + issued.name[1:])
    sentence = f"{name}. {figures.worth(published)}{figures.bought(published)}"
    if within_tolerance(published).all() and figures.fits(published):
        st.success(sentence, icon=":material/verified_user:")
    else:
        st.warning(sentence, icon=":material/blur_on:")
    figure, alt = figures.released(published), figures.released_alt(spec)
    seen, public = figures.released_caption(spec), as_it_is(figure, _about(published, alt))
    pictures.chart(figure, "own_released_chart", alt, public, caption=seen)
    st.dataframe(figures.greyed(published), hide_index=True, key="own_values")
    download(issued)
    if spec.choice.kind.automatic or not spec.protects_inputs:
        _explore(issued)


def _about(published: Published, shows: str) -> About:
    spec = published.spec
    released = f"Published: {spec.y} by {' and '.join(spec.x)}."
    return About(finding(published), released, shows, published.guarantee, taught=False)


def _explore(issued: Issued) -> None:
    """Draw a link to the page on which other models, points and thresholds cost no privacy."""
    st.header("Explore this release, free")
    st.markdown(
        "Try other lengthscales, kernels, grids and levels on the released numbers as often as you like. Whatever is "
        "computed from them is covered by the guarantee already."
    )
    if st.button("Explore this release, free", icon=":material/travel_explore:"):
        EXPLORED.put(Upload(issued.name, {"release.zip": issued.bundle}))
        st.switch_page("../explore_release.py")


def download(issued: Issued, again: bool = False) -> None:
    """Offer the zip of a release, and from it card and figure."""
    with zipfile.ZipFile(io.BytesIO(issued.bundle)) as archive:
        card, release_json = archive.read("card.html"), archive.read(CARD)
        figure = archive.read("figure.svg") if "figure.svg" in archive.namelist() else None
    whole = f"Download {plain(issued.name)}{' again' if again else ''}"
    with st.container(horizontal=True):
        for label, content, name, mime, icon in [
            (whole, issued.bundle, "release.zip", "application/zip", "download"),
            ("Its card, to print", card, "card.html", "text/html", "print"),
            ("Its figure (SVG)", figure, "figure.svg", "image/svg+xml", "image"),
        ]:
            if content is None:  # there is no figure if matplotlib failed
                continue
            key = f"own_{name}_{again}"
            st.download_button(label, content, name, mime, icon=f":material/{icon}:", key=key, on_click="ignore")
    about = read_object(release_json, CARD)
    releases.offer(spec_from_object(about["config"]), guarantee_from_object(about["guarantee"]))
