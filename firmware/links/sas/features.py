"""What LP A0 says this machine can do (SAS 9.6). A bit is set here in the commit that makes it true."""

from __future__ import annotations

METERED_WHEN_WON = 1 << 0
"""Feature 2, meter model 01 (decisions.md "Money and meters")."""
TICKETS_IN_TOTALS = 1 << 2
"""Feature 2: tickets and electronic transfers are part of meters 04 and 24."""
EXTENDED_METERS = 1 << 3
"""Feature 2: LP 6F and AF."""
POLLING_40_MS = 1 << 0
"""Feature 3: general polls may come every 40 ms."""

FEATURE_1 = 0
"""No bonus, no validation, no tickets yet: validation style 00."""
FEATURE_2 = METERED_WHEN_WON | TICKETS_IN_TOTALS | EXTENDED_METERS
FEATURE_3 = POLLING_40_MS
FEATURE_4 = 0
