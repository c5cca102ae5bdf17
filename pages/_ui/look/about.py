"""What an export figure says about its content."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date

from datasets import DATASETS
from dpgp_core.accounting.guarantee import Guarantee
from dpgp_core.figures.export import STAMP, ExportText, budget_of, promise
from dpgp_core.table import Dataset


@dataclass(frozen=True)
class About:
    """Description of a released figure.

    Attributes:
        finding: title, a sentence about what the figure shows. It is computed from the release alone.
        release: sentence about the released quantity and its mechanism.
        shows: sentence about the meaning of line, band or colour.
        guarantee: guarantee of the release; None for a figure that depends on no output.
        basis: source of the figure if it has no guarantee.
        source, licence: source and licence of the data; "" if there are none.
        title: title of the data set; "" if there is none.
        taught: whether the release is simulated.
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
    """Return the description of a simulated release of a shipped data set.

    Args:
        data: the data set.
        guarantee: guarantee of the release.
        made: method and number of the release.
        shows: meaning of line, band or colour.
        finding: title, computed from the release alone.
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
    """Return the description of a figure without any data."""
    return About(finding, "", shows)


def of_inputs(data: Dataset, shows: str, *, finding: str) -> About:
    """Return the description of a figure of public inputs, which depends on no output."""
    basis = "Computed from public inputs, settings and budget: no output is in it, and nothing is spent."
    return About(finding, "", shows, source=data.source, licence=data.licence, title=_title(data), basis=basis)


def _title(data: Dataset) -> str:
    """Return the title of a shipped data set; "" for a visitor's."""
    return next((each.TITLE for each in DATASETS if data.name == each.NAME), "")


def first_sentence(words: str) -> str:
    """Return the first sentence of a page's headline, without marks of bold words and the full stop."""
    return re.split(r"[.:] (?=[A-Z])", words.replace("**", ""), maxsplit=1)[0].strip().rstrip(".")


def publishable(about: About, address: str, day: date) -> ExportText:
    """Return the words of a figure that may be published, with its guarantee, source, date and address."""
    foot, subtitle = [about.basis], about.title
    if about.guarantee is not None:
        foot = [promise(about.guarantee)]
        foot += ["A simulated release for teaching: its noise can be reproduced."] if about.taught else []
        subtitle = ". ".join(filter(None, (budget_of(about.guarantee), about.title)))
    if about.source:
        foot.append(f"Source: {about.source}. Licence: {about.licence or 'not stated'}.")
    captions = tuple(filter(None, (about.release, about.shows)))
    return ExportText(
        title=first_sentence(about.finding),
        subtitle=subtitle,
        captions=captions,
        foot=(*foot, f"{day.isoformat()}."),
        link=address,
    )


def on_screen(title: str, caption: str, address: str, day: date) -> ExportText:
    """Return the words of a figure of the screen, which are stamped as not private."""
    return ExportText(
        title=first_sentence(title), captions=(caption,), foot=(f"{day.isoformat()}.",), link=address, stamp=STAMP
    )
