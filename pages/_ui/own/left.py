"""Whether a release would still fit into the ledger: said before its button is pressed."""

from __future__ import annotations

from dpgp_core.accounting.guarantee import Budget
from dpgp_core.accounting.ledger import BudgetExceeded, Ledger, MixedRows
from dpgp_core.release import ReleaseSpec
from pages._ui.own.session import Account


def refusal(spec: ReleaseSpec, account: Account) -> str:
    """Why the ledger would refuse a release, in a sentence; "" if it would not.

    Whether inputs are private in one release and not in another has a choice of its own.
    """
    if account.limit is None or account.delta is None:
        return ""
    limit = Budget(epsilon=account.limit, delta=account.delta)
    ledger = Ledger(limit=limit, entries=list(account.entries), inputs_public=True)
    try:
        ledger.spend([("release", spec.guarantee)])
    except (BudgetExceeded, MixedRows) as error:
        return str(error)
    return ""
