"""A headless Chromium, driven through Playwright."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome")
# No sandbox and no /dev/shm, since containers lack both; nothing that talks to the outside.
ARGUMENTS = (
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)


def found() -> str | None:
    """The path of the one that CHROMIUM names, else of one that is installed."""
    names = (os.environ.get("CHROMIUM"), *NAMES)
    return next((path for name in names if name and (path := shutil.which(name))), None)


@contextmanager
def launched(path: str | None, *arguments: str) -> Iterator[Any]:
    """A browser with further arguments, as Playwright's Browser."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=path, headless=True, args=[*ARGUMENTS, *arguments]
        )
        yield browser
        browser.close()
