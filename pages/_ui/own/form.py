"""Form in which a visitor declares a table. Only the names of columns are taken from the table."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import streamlit as st

from dpgp_core.accounting.guarantee import Budget
from dpgp_core.accounting.ledger import Ledger
from dpgp_core.mechanisms.catalogue import IF_INPUTS_ARE_PUBLIC, Entry
from dpgp_core.release import CHOICES, KERNEL_NAMES, ReleaseSpec
from dpgp_core.table import Kind
from pages._ui.look import settings
from pages._ui.look.text import plain
from pages._ui.own import columns, questions
from pages._ui.own.columns import Draft
from pages._ui.own.slots import Question
from pages._ui.own.upload import Table

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

_NAMES = {choice.title: name for name, choice in CHOICES.items()}  # titles of mechanisms


def declared(table: Table, ledger: Ledger) -> ReleaseSpec | None:
    """Draw the whole form. Return None, with a sentence on the page, while something is missing or out of range.

    Args:
        table: the table, of which the names of columns and their possible readings are used.
        ledger: ledger of the table. Its total is declared here until it is fixed. Unless it treats inputs as public, a
            mechanism that protects them is recommended.
    """
    st.header("2. Say what is public")
    st.markdown(
        "Say what you knew **before** you saw the table. Nothing below is filled in from its values: a bound that is "
        "computed from private values reveals something about them."
    )
    draft = Draft(table)
    _columns(draft)
    columns.numbers(draft)
    columns.notations(draft)
    columns.contents(draft)
    _whose(draft)
    mechanism = _offered(draft, ledger.inputs_public)
    choice = CHOICES[_NAMES[mechanism.current()]]  # drawn further down
    kind = _kind(draft)
    columns.missing(draft)
    _output(draft)
    columns.degrees(draft)
    _inputs(draft, automatic=choice.kind.automatic)
    draft.writing |= {"numbers": draft.way, "date_order": next(iter(draft.formats.values()), None)}
    st.header("3. Choose a mechanism and a budget")
    if draft.levels:
        st.caption(questions.ONLY_BAYES)
    _model(mechanism, choice, draft)
    _budget(ledger.limit, draft, pure=choice.kind.pure)
    # Offered if the residual variance is measured anyway; a rate has none
    draft.fields["centiles"] = choice.kind.measures_dispersion and kind != "yes/no" and questions.CENTILES.ask()
    unit = "share of yes, 0 to 1" if kind == "yes/no" else plain(draft.fields["y_unit"].strip()) or "y"
    within = "a factor" if draft.fields["log"] else f"± [{unit}]"
    label = questions.TOLERANCE.label.format(within)
    draft.fields["tolerance"] = settings.value_of(replace(questions.TOLERANCE, label=label))
    if draft.missing or draft.y is None:
        st.info(f"Still needed: {', '.join(draft.missing)}.", icon=":material/edit_note:")
        return None
    if not draft.readable:
        return None
    try:
        writing = replace(draft.table.writing, **draft.writing)
        return ReleaseSpec(x=tuple(draft.x), y=draft.y, writing=writing, **draft.fields)
    except ValueError as error:
        st.error(plain(f"{error}."))
        return None


def _columns(draft: Draft) -> None:
    """Ask which column is the output, and which are inputs."""
    left, right = st.columns(2)
    draft.y = questions.Y.among(draft.table.columns).ask(left)
    draft.x = questions.X.among([name for name in draft.table.columns if name != draft.y]).ask(right)
    draft.needs("the private column", draft.y)
    draft.needs("an input column", draft.x)
    columns.labels(draft)


def _whose(draft: Draft) -> None:
    """Ask which column identifies people, if there is one, or for the largest number of rows of one person."""
    answer, person, most, problem = questions.WHOSE.ask(), None, None, ""
    if answer is None:
        columns.people(draft)
    if answer == questions.COLUMN:
        person = questions.PERSON.among([name for name in draft.table.columns if name not in draft.used]).ask()
        if person is not None:
            about = draft.table.survey[person]
            if problem := about.as_people(person):
                st.error(plain(f"{problem}."))
            else:
                st.caption(f"{about.values:,} people in {about.rows:,} rows. {questions.ABOUT_PEOPLE}")
    elif answer == questions.AT_MOST:
        most = questions.ROWS.ask()
    answered = answer == questions.ONE_ROW or most is not None or (person is not None and not problem)
    draft.needs("whether somebody can have more than one row", answered)
    draft.fields |= {"person": person, "rows_per_person": most or 1}


def _offered(draft: Draft, inputs_public: bool) -> Question:
    """Return the question about the mechanism, the recommended one first.

    If people have several rows, only mechanisms that protect all of them are offered; if there are categorical inputs,
    those that accept them.
    """
    people = draft.fields["person"] is not None
    fit = [
        choice.title
        for choice in CHOICES.values()
        if (choice.kind.people or not people) and (choice.kind.levels or not draft.levels)
    ]
    return questions.MECHANISM.among(fit, default=CHOICES[IF_INPUTS_ARE_PUBLIC].title if inputs_public else fit[0])


def _kind(draft: Draft) -> Kind:
    """Return the declared kind of the output after checking it."""
    kind: Kind = questions.KIND.ask()
    st.caption(questions.ABOUT_KINDS[kind])
    if draft.y is not None:
        (columns.yes_and_no if kind == "yes/no" else columns.outcome)(draft.y, draft)
    draft.fields["y_kind"] = kind
    return kind


def _output(draft: Draft) -> None:
    """Ask for the privacy unit, and for unit, bounds and scale of the output. Yes/no outcomes have bounds of their
    own.
    """
    kind = draft.fields["y_kind"]
    row = st.columns([2, 1, 1, 1])
    usual = f"one person's {columns.name_of_outcome(draft) or 'height'}"
    unit = questions.UNIT.of(usual).ask(row[0], placeholder=usual).strip() or usual
    if kind == "yes/no":
        labels = (each.label for each in (questions.Y_UNIT, questions.LOW, questions.HIGH))
        for column, label, example in zip(row[1:], labels, ("share of yes", "0, no", "1, yes"), strict=True):
            column.text_input(label, example, disabled=True, key=f"own_fixed_{example}")
        draft.fields |= {"unit": unit, "y_unit": "", "y_bounds": (0.0, 1.0), "log": False}
        return
    draft.fields |= {"unit": unit, "y_unit": questions.Y_UNIT.ask(row[1])}
    _bounds(row[2], row[3], draft)
    draft.fields["log"] = kind != "count" and questions.LOG.ask()


def _bounds(left: DeltaGenerator, right: DeltaGenerator, draft: Draft) -> None:
    """Ask for both bounds, or for the smallest size that matters if bounds are bought."""
    if questions.BUY.current():
        smallest = questions.SMALLEST.ask(left)
        right.text_input("Bounds of y", "bought with the release", disabled=True, key="own_fixed_bought")
        draft.needs("the smallest y that matters", smallest is not None)
        draft.fields |= {"y_bounds": None, "bounds_unit": smallest}
    else:
        ends = questions.LOW.ask(left), questions.HIGH.ask(right)
        draft.needs("both bounds of y", None not in ends)
        draft.fields["y_bounds"] = ends
    if questions.BUY.ask():
        st.caption(questions.ABOUT_BUYING)


def _inputs(draft: Draft, *, automatic: bool) -> None:
    """Ask for domain, unit, lengthscale and grid of every input.

    Inputs in degrees have lengthscales in km, dates in days. Categorical inputs have none of these. If the mechanism
    makes its models itself, there is no question about lengthscales.
    """
    kilometres = draft.fields["coordinates"] or ()
    units, grid, dates = list[str](), list[int | None](), dict[str, object]()
    box, lengths = list[object](), list[float | None]()
    for name in draft.x:
        if name in draft.levels:
            units.append("")
            grid.append(None)
            continue
        row = st.columns(5)
        grid.append(int(questions.points(name, len(draft.x) - len(draft.levels)).ask(row[4])))
        if order := draft.formats.get(name):
            label = questions.PERIOD.label if automatic else f"{questions.PERIOD.label} (not here)"
            period = questions.PERIOD.of(name).ask(row[0], label=label, disabled=not automatic)
            dates[name] = {"format": order, "period": questions.PERIODS[period] if automatic else None}
            days = zip(questions.days(name, order), row[1:3], strict=True)
            ends = tuple(day and day.isoformat() for day in (question.ask(where) for question, where in days))
            units.append("")
        else:
            units.append(questions.X_UNIT.of(name).ask(row[0]))
            ends = questions.FROM.of(name).ask(row[1]), questions.TO.of(name).ask(row[2])
        box.append(ends)
        draft.needs(f"{plain(name)} from and to", None not in ends)
        if not automatic:
            unit = " [days]" if order else " [km]" if name in kilometres else ""
            length = questions.LENGTHSCALE.of(name)
            lengths.append(length.ask(row[3], label=f"{length.label}{unit}"))
    draft.needs("a lengthscale for every input", None not in lengths)
    draft.fields |= {"x_units": tuple(units), "x_box": tuple(box), "grid": tuple(grid), "dates": dates}
    draft.fields["lengthscale"] = tuple(lengths) or None
    draft.fields["x_levels"] = tuple(draft.levels.get(name) for name in draft.x) if draft.levels else None


def _model(mechanism: Question, choice: Entry, draft: Draft) -> None:
    """Ask for the mechanism and its settings."""
    left, middle, right = st.columns([2, 1, 1])
    draft.fields["mechanism"] = _NAMES[mechanism.ask(left)]
    kernels = [name for name in KERNEL_NAMES if name in choice.kind.kernel_names]
    if choice.kind.automatic:
        middle.text_input("Model", "automatic", disabled=True, help=questions.ABOUT_MODELS)
        draft.fields["kernel"] = kernels[0]
        return
    draft.fields["kernel"] = questions.KERNEL.among(kernels, default=kernels[0]).ask(middle)
    draft.fields["noise_variance"] = questions.NOISE.ask(right)
    if choice.kind.uses_cells:
        draft.fields["cells"] = int(questions.CELLS.ask(left))


def _budget(limit: Budget | None, draft: Draft, *, pure: bool) -> None:
    """Ask for epsilon and delta of this release, and for the total unless an earlier release has fixed it."""
    row = st.columns(3)
    epsilon, delta = questions.EPSILON.ask(row[0]), questions.DELTA.ask(row[1])
    if limit is None:
        total = questions.TOTAL.ask(row[2])
    else:
        total = limit.epsilon
        row[2].metric("Total ε, declared", f"{total:g}")
    draft.needs("the total ε", total is not None)
    draft.fields |= {"epsilon": epsilon, "delta": 0.0 if pure else delta, "total_epsilon": total, "total_delta": delta}
