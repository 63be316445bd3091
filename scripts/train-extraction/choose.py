"""The first part of the product's rule (src/extraction/classification/keep-blocks.ts), for scores out of fold: what its container adds is not here."""
import numpy as np

from sets import TYPES

REPEAT_WORDS = 6
SURELY_DOCUMENTATION = 0.5
DOCUMENTATION = TYPES.index("documentation")


def keep_blocks(pages, p, types=None, factor=0.6, least=0.3):
    """Keeps what reaches a share of the page's own plateau; later exact repeats go, save in documentation."""
    keep = np.zeros(len(p), bool)
    for number, page in enumerate(pages):
        keeps_repeats = types is not None and types[number][DOCUMENTATION] > SURELY_DOCUMENTATION
        rows = p[page.start:page.end]
        sizes = np.array([len(w) for w in page.words], np.float32)
        sure = rows > 0.5
        plateau = float((rows * sizes)[sure].sum() / max(sizes[sure].sum(), 1)) if sure.any() else 0.0
        threshold = max(least, factor * plateau)
        seen = set()
        for i in np.flatnonzero(rows >= threshold):
            text = page.texts[i]
            if len(page.words[i]) >= REPEAT_WORDS and not keeps_repeats:
                if text in seen:
                    continue
                seen.add(text)
            keep[page.start + i] = True
    return keep
