"""Which token of the environment a remote may be given."""

from __future__ import annotations

from reflect.errors import PublishError
from reflect.publish.forge import place_of
from reflect.publish.policy import PublishPolicy
from reflect.publish.remote import Remote
from reflect.workspace import Workspace


def token_for(workspace: Workspace, policy: PublishPolicy) -> str | None:
    """The token for the forge behind the policy's remote; None where that is no forge, or no token is set."""
    try:
        place = place_of(Remote(workspace.git, policy.remote).address, policy.forge, policy.api_url)
    except PublishError:
        return None
    secret = workspace.settings.token_for(place.kind)
    return secret.get_secret_value() if secret is not None else None
