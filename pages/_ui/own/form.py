"""What a visitor declares about an own table: the form. Nothing is filled in from the table but its column names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpgp_core.accounting.guarantee import Budget
from dpgp_core.accounting.ledger import Ledger
from dpgp_core.dates import Format
from dpgp_core.levels import Levels
from dpgp_core.mechanisms.catalogue import IF_INPUTS_ARE_PUBLIC, Entry
from dpgp_core.release import CHOICES, KERNEL_NAMES, ReleaseSpec
from dpgp_core.table import Kind
from pages._ui.look import settings
from pages._ui.look.text import plain
from pages._ui.own import columns, questions
from pages._ui.own.columns import Declared
from pages._ui.own.slots import Question
from pages._ui.own.upload import Table

_NAMES = {choice.title: name for name, choice in CHOICES.items()}  # of mechanisms


def declared(held: Table, ledger: Ledger) -> ReleaseSpec | None:
    """The whole form; None, with a sentence on the page, while something is missing or out of range.

    Args:
        held: the table, of which the names of columns are used, and what each of them can be read as.
        ledger: its total is declared here until it is fixed; unless it treats inputs as public, what protects them is
            recommended.
    """
    st.header("2. Say what is public")
    st.markdown(
        "Say what you knew **before** you saw the table. Nothing below is filled in from its values: a bound that is "
        "read off private values tells something about them."
    )
    said = Declared()
    y, x = _columns(held, said)
    used = [*x, *([] if y is None else [y])]
    way = columns.numbers([held.survey[name] for name in used])
    formats, levels = columns.contents(x, used, held, way, said)
    person = _whose(held, used, said)
    mechanism = _offered(ledger.inputs_public, people=person is not None, levels=bool(levels))
    choice = CHOICES[_NAMES[mechanism.stands()]]  # it is drawn further down
    kind = _kind(y, held, way, said)
    free = y if "yes" in said.writing else None
    lacking = [name for name in [*used, *([] if person is None else [person])] if name != free]
    columns.missing(lacking, held, way, formats, said)
    _output(kind, y, said)
    numbers = [name for name in x if name not in levels]
    said.fields["coordinates"] = columns.degrees([name for name in numbers if name not in formats])
    _inputs(x, formats, levels, said, automatic=choice.kind.automatic)
    said.writing |= {"numbers": way, "date_order": next(iter(formats.values()), None)}
    st.header("3. Choose a mechanism and a budget")
    if levels:
        st.caption(questions.ONLY_BAYES)
    _model(mechanism, choice, said)
    _budget(ledger.limit, said, pure=choice.kind.pure)
    # Offered where how far people are apart is measured anyway; a rate has none
    said.fields["centiles"] = choice.kind.scatter and kind != "yes/no" and questions.CENTILES.ask()
    said.fields["tolerance"] = _tolerance(
        "share of yes, 0 to 1" if kind == "yes/no" else said.fields["y_unit"], log=said.fields["log"]
    )
    return _spec(held, said)


def _spec(held: Table, said: Declared) -> ReleaseSpec | None:
    """What is declared, once nothing is missing and every column can be read."""
    if said.missing:
        st.info(f"Still to declare: {', '.join(said.missing)}.", icon=":material/edit_note:")
        return None
    if not said.readable:
        return None
    try:
        return ReleaseSpec(writing=replace(held.writing, **said.writing), **said.fields)
    except ValueError as error:
        st.error(plain(f"{error}."))
        return None


def _columns(held: Table, said: Declared) -> tuple[str | None, list[str]]:
    """Which column is the output, and which are inputs."""
    left, right = st.columns(2)
    y = questions.Y.among(held.columns).ask(left)
    x = questions.X.among([name for name in held.columns if name != y]).ask(right)
    said.needs("the private column", y)
    said.needs("an input column", x)
    said.fields |= {"y": y, "x": tuple(x)}
    return y, x


def _whose(held: Table, used: Sequence[str], said: Declared) -> str | None:
    """The column that says whose row it is, if there is one; asked, with whatever else the answer needs."""
    answer, person, most, problem = questions.WHOSE.ask(), None, None, ""
    if answer == questions.COLUMN:
        person = questions.PERSON.among([name for name in held.columns if name not in used]).ask()
        if person is not None:
            problem = held.survey[person].as_people(person)
    elif answer == questions.AT_MOST:
        most = questions.ROWS.ask()
    if problem:
        st.error(plain(f"{problem}."))
    elif person is not None:
        about = held.survey[person]
        st.caption(f"{about.values:,} people in {about.rows:,} rows. {questions.ABOUT_PEOPLE}")
    known = answer == questions.ONE_ROW or most is not None or (person is not None and not problem)
    said.needs("whether somebody can have more than one row", known)
    said.fields |= {"person": person, "rows_per_person": most or 1}
    return person


def _offered(inputs_public: bool, *, people: bool, levels: bool) -> Question:
    """The question about the mechanism, the recommended one first.

    Where people have several rows, those that hide all are offered; where there are groups, those that take them.
    """
    fit = [
        choice.title
        for choice in CHOICES.values()
        if (choice.kind.people or not people) and (choice.kind.levels or not levels)
    ]
    return questions.MECHANISM.among(fit, default=CHOICES[IF_INPUTS_ARE_PUBLIC].title if inputs_public else fit[0])


def _kind(y: str | None, held: Table, way: str, said: Declared) -> Kind:
    """What kind of outcome the output is, and whether it can be read as that."""
    kind: Kind = questions.KIND.ask()
    st.caption(questions.ABOUT_KINDS[kind])
    if y is not None and kind == "yes/no":
        columns.yes_and_no(y, held, said)
    elif y is not None:
        columns.outcome(y, held, way, said)
    said.fields["y_kind"] = kind
    return kind


def _output(kind: Kind, y: str | None, said: Declared) -> None:
    """Privacy unit, and unit, bounds and scale of the output. Yes and no have bounds of their own."""
    row = st.columns([2, 1, 1, 1])
    usual = f"one person's {y or 'height'}"
    unit = questions.UNIT.of(usual).ask(row[0], placeholder=usual).strip() or usual
    if kind == "yes/no":
        labels = (each.label for each in (questions.Y_UNIT, questions.LOW, questions.HIGH))
        for column, label, example in zip(row[1:], labels, ("share of yes", "0, no", "1, yes"), strict=True):
            column.text_input(label, example, disabled=True, key=f"own_fixed_{example}")
        said.fields |= {"unit": unit, "y_unit": "", "y_bounds": (0.0, 1.0), "log": False}
        return
    y_unit = questions.Y_UNIT.ask(row[1])
    _bounds(row[2], row[3], said)
    log = kind != "count" and questions.LOG.ask()
    said.fields |= {"unit": unit, "y_unit": y_unit, "log": log}


def _bounds(left: DeltaGenerator, right: DeltaGenerator, said: Declared) -> None:
    """Both bounds; or the smallest size that matters, where they are bought."""
    if questions.BUY.stands():
        smallest = questions.SMALLEST.ask(left)
        right.text_input("Bounds of y", "bought with the release", disabled=True, key="own_fixed_bought")
        said.needs("the smallest y that matters", smallest is not None)
        said.fields |= {"y_bounds": None, "bounds_unit": smallest}
    else:
        ends = questions.LOW.ask(left), questions.HIGH.ask(right)
        said.needs("both bounds of y", None not in ends)
        said.fields["y_bounds"] = ends
    if questions.BUY.ask():
        st.caption(questions.ABOUT_BUYING)


def _inputs(
    x: Sequence[str],
    formats: Mapping[str, Format],
    levels: Mapping[str, Levels | None],
    said: Declared,
    *,
    automatic: bool,
) -> None:
    """Domain, unit, lengthscale and grid of every input.

    Those in degrees have lengthscales in km, dates in days; groups have none of these, and where the mechanism makes
    its models itself no lengthscale is asked for.
    """
    kilometres = said.fields["coordinates"] or ()
    units, grid, dates = list[str](), list[int | None](), dict[str, object]()
    box, lengths = list[object](), list[float | None]()
    for name in x:
        if name in levels:
            units.append("")
            grid.append(None)
            continue
        row = st.columns(5)
        grid.append(int(questions.points(name, len(x) - len(levels)).ask(row[4])))
        if name in formats:
            period = questions.PERIOD.of(name).ask(
                row[0], label="Comes again" if automatic else "Comes again (not here)", disabled=not automatic
            )
            dates[name] = {"format": formats[name], "period": questions.PERIODS[period] if automatic else None}
            days = zip(questions.days(name, formats[name]), row[1:3], strict=True)
            ends = tuple(day and day.isoformat() for day in (asked.ask(where) for asked, where in days))
            units.append("")
        else:
            units.append(questions.X_UNIT.of(name).ask(row[0]))
            ends = questions.FROM.of(name).ask(row[1]), questions.TO.of(name).ask(row[2])
        box.append(ends)
        said.needs(f"{plain(name)} from and to", None not in ends)
        if not automatic:
            unit = " [days]" if name in formats else " [km]" if name in kilometres else ""
            length = questions.LENGTHSCALE.of(name)
            lengths.append(length.ask(row[3], label=f"{length.label}{unit}"))
    said.needs("a lengthscale for every input", None not in lengths)
    said.fields |= {"x_units": tuple(units), "x_box": tuple(box), "grid": tuple(grid), "dates": dates}
    said.fields["lengthscale"] = tuple(lengths) or None
    said.fields["x_levels"] = tuple(levels.get(name) for name in x) if levels else None


def _model(mechanism: Question, choice: Entry, said: Declared) -> None:
    """The mechanism and its settings."""
    left, middle, right = st.columns([2, 1, 1])
    said.fields["mechanism"] = _NAMES[mechanism.ask(left)]
    kernels = [name for name in KERNEL_NAMES if name in choice.kind.kernel_names]
    if choice.kind.automatic:
        middle.text_input("Model", "automatic", disabled=True, help=questions.ABOUT_MODELS)
        said.fields["kernel"] = kernels[0]
        return
    said.fields["kernel"] = questions.KERNEL.among(kernels, default=kernels[0]).ask(middle)
    said.fields["noise_variance"] = questions.NOISE.ask(right)
    if choice.kind.uses_cells:
        said.fields["cells"] = int(questions.CELLS.ask(left))


def _budget(limit: Budget | None, said: Declared, *, pure: bool) -> None:
    """Epsilon and delta of this release, and the total, unless an earlier release has fixed that."""
    row = st.columns(3)
    epsilon, delta = questions.EPSILON.ask(row[0]), questions.DELTA.ask(row[1])
    if limit is None:
        total = questions.TOTAL.ask(row[2])
    else:
        total = limit.epsilon
        row[2].metric("Total ε, declared", f"{total:g}")
    said.needs("the total ε", total is not None)
    said.fields |= {"epsilon": epsilon, "delta": 0.0 if pure else delta, "total_epsilon": total, "total_delta": delta}


def _tolerance(unit: str, *, log: bool) -> float | None:
    """The precision that is needed, in the output's unit or as a factor; None for none."""
    within = "a factor" if log else f"± [{plain(unit.strip()) or 'y'}]"
    asked = questions.TOLERANCE
    return settings.value_of(replace(asked, label=asked.label.format(within)))
