"""Colours that always mean the same thing (Okabe-Ito), and the two sequential scales."""

TRUTH = "#7f7f7f"  # true data, truth: hollow markers, dotted
NON_PRIVATE = "#0072B2"  # non-private model and its uncertainty: solid, band at 18 %
PRIVATE = "#E69F00"  # private release and its noise: band at 22 %; beside other methods, Bayes cloaking
REFINED = "#6A3D9A"  # beside it: cloaking whose noise is added once, and posterior paths
SPARSE = "#00735A"  # beside it: the sparse DP-GP
OTHER = "#CC79A7"  # the method compared with: dashed
PINNED = "#A65628"  # a pinned setting: dash-dotted
BINS = "#56B4E9"  # binning, in comparisons of many mechanisms
RISK = "#D55E00"
GUARANTEE = "#009E73"

NOISE_SCALE = "Cividis"
PREDICTION_SCALE = "Viridis"


MEANINGS = (
    (PRIVATE, "published, with privacy noise"),
    (NON_PRIVATE, "without privacy"),
    (TRUTH, "true data"),
    (OTHER, "the method compared with"),
    (PINNED, "what you pinned"),
    (GUARANTEE, "what is guaranteed"),
    (RISK, "risk, attack"),
)


def faded(colour: str, opacity: float) -> str:
    """A hex colour as rgba(...) with the given opacity in [0, 1]."""
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},{opacity})"
