"""Large results as files, with quotas."""

from agentcore.store.artifacts.artifact_rows import Artifact
from agentcore.store.artifacts.artifact_store import MATCHES, ArtifactStore
from agentcore.store.artifacts.files import unknown_artifact
from agentcore.store.artifacts.message_references import pin_for_message
from agentcore.store.artifacts.text_search import QUERY_CHARS
