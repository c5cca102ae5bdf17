"""What a picture to take along says about the figure on it. No streamlit here."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date

from datasets import DATASETS
from dpgp_core.accounting.guarantee import Guarantee
from dpgp_core.figures.sheet import STAMP, Sheet, budget_of, promise
from dpgp_core.table import Dataset


@dataclass(frozen=True)
class About:
    """The description of a released figure.

    Attributes:
        finding: what the figure shows, in a sentence; the title. It is computed from the release alone.
        release: the released quantity and its mechanism, in a sentence.
        shows: the meaning of line, band or colour, in a sentence.
        guarantee: of the release; None for a figure without any output.
        basis: in its place, the source of the figure.
        source, licence: of the data; "" where there are none.
        title: of the data set; "" where there is none.
        taught: whether the noise is a numbered draw's.
    """

    finding: str
    release: str
    shows: str
    guarantee: Guarantee | None = None
    source: str = ""
    licence: str = ""
    title: str = ""
    taught: bool = True
    basis: str = "Computed from the definition of differential privacy alone: no data are in it."


def of_release(data: Dataset, guarantee: Guarantee, made: str, shows: str, *, finding: str) -> About:
    """Of a numbered draw of a shipped dataset.

    Args:
        made: by which method, and which draw.
        finding: computed from the release alone.
    """
    inputs = " and ".join(data.x_names)
    return About(
        finding=finding,
        release=f"Published: {data.y_name.removeprefix('ln ')} by {inputs}; {made}.",
        shows=shows,
        guarantee=guarantee.for_unit(data.privacy_unit),
        source=data.source,
        licence=data.licence,
        title=_title(data),
    )


def of_theory(shows: str, *, finding: str) -> About:
    """Of a figure without any data."""
    return About(finding, "", shows)


def of_inputs(data: Dataset, shows: str, *, finding: str) -> About:
    """Of a figure of public inputs: no output enters."""
    basis = "Computed from public inputs, settings and budget: no output is in it, and nothing is spent."
    return About(finding, "", shows, source=data.source, licence=data.licence, title=_title(data), basis=basis)


def _title(data: Dataset) -> str:
    """Title of a shipped data set; "" for a visitor's."""
    return next((each.TITLE for each in DATASETS if data.name == each.NAME), "")


def first_sentence(words: str) -> str:
    """The first sentence of a page's headline, without the marks of bold words and the full stop."""
    return re.split(r"[.:] (?=[A-Z])", words.replace("**", ""), maxsplit=1)[0].strip().rstrip(".")


def publishable(about: About, address: str, day: date) -> Sheet:
    """The words of a picture to publish, with its promise, source, date and address."""
    foot, subtitle = [about.basis], about.title
    if about.guarantee is not None:
        foot = [promise(about.guarantee)]
        foot += ["A numbered example draw, to teach: its noise can be drawn again."] if about.taught else []
        subtitle = ". ".join(filter(None, (budget_of(about.guarantee), about.title)))
    if about.source:
        foot.append(f"Source: {about.source}. Licence: {about.licence or 'not stated'}.")
    captions = tuple(filter(None, (about.release, about.shows)))
    return Sheet(
        title=first_sentence(about.finding),
        subtitle=subtitle,
        captions=captions,
        foot=(*foot, f"{day.isoformat()}."),
        link=address,
    )


def on_screen(title: str, caption: str, address: str, day: date) -> Sheet:
    """The words of the screen as it is, stamped across."""
    return Sheet(
        title=first_sentence(title), captions=(caption,), foot=(f"{day.isoformat()}.",), link=address, stamp=STAMP
    )
