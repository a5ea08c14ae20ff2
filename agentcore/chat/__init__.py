"""The agent loop over a session: models, calls that wait for approval, tools that a client runs."""

from agentcore.chat.chat import Chat
from agentcore.chat.chat_limits import (
    ANSWER_CHARS,
    MESSAGE_CHARS,
    MESSAGES_LISTED,
    OWN_INSTRUCTIONS_CHARS,
    SESSIONS_LISTED,
    TITLE_CHARS,
    TODO_CHARS,
    TODOS,
)
from agentcore.chat.client_context import dump_client_tools, dump_page
from agentcore.chat.client_messages import Attachments, ChatBody, ClientTools, PageInfo
from agentcore.chat.model_status import ModelStatus, find_model_status
from agentcore.chat.policy import explain_call, try_new_rule
from agentcore.chat.session.live_state import Sink
from agentcore.chat.sessions import SentState, Sessions, clean_title
from agentcore.chat.settings import ChatDocument, ChatSettings, ModelConfig, ToolCalling
from agentcore.chat.setup import ChatView, ModelSetup, list_models_at
from agentcore.chat.skill_list import SkillsView, describe_skills
from agentcore.chat.system_message import SystemMessages, SystemView
