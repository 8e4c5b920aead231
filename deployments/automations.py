"""Brings the automations of a Prefect server to what `automations.yaml` says; safe to repeat.

Run it with PREFECT_API_URL set. Notifications go as `{"text": …}` to the address in REFLECT_NOTIFY_URL, the form that
chat services take; without one the server only notes that the automation was triggered.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml
from prefect.blocks.notifications import CustomWebhookNotificationBlock
from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.events.schemas.automations import AutomationCore

FILE = Path(__file__).parent / "automations.yaml"
BLOCK = "reflect-notify"


def main() -> int:
    names = apply(os.environ.get("REFLECT_NOTIFY_URL") or None)
    print("\n".join(f"automation: {name}" for name in names), file=sys.stderr)
    return 0


def apply(notify_url: str | None) -> tuple[str, ...]:
    """Create or update every automation of the file; their names."""
    block = _notification_block(notify_url) if notify_url else None
    wanted = [AutomationCore.model_validate(one) for one in _with_actions(block)]
    with get_client(sync_client=True) as client:
        for automation in wanted:
            _put(client, automation)
    return tuple(automation.name for automation in wanted)


def _put(client: SyncPrefectClient, automation: AutomationCore) -> None:
    known = client.read_automations_by_name(automation.name)
    if known:
        client.update_automation(known[0].id, automation)
    else:
        client.create_automation(automation)


def _with_actions(block: str | None) -> Iterable[dict[str, Any]]:
    for one in yaml.safe_load(FILE.read_text(encoding="utf-8"))["automations"]:
        said = one.pop("notify", None)
        if said is None:
            yield one
        elif block is None:
            yield one | {"actions": [{"type": "do-nothing"}]}
        else:
            yield one | {"actions": [{"type": "send-notification", "block_document_id": block, **said}]}


def _notification_block(url: str) -> str:
    block = CustomWebhookNotificationBlock(
        name=BLOCK, url=url, json_data={"text": "{{subject}}\n{{body}}"}, allow_private_urls=True
    )
    return str(block.save(BLOCK, overwrite=True))


if __name__ == "__main__":
    sys.exit(main())
