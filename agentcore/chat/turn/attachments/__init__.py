"""Files that a person attaches to messages, as models get them; kept in the history by reference."""

from agentcore.chat.turn.attachments.attached import AttachedFiles, attachment_of, attachments_of, tagged, words_of
from agentcore.chat.turn.attachments.refused_pictures import has_pictures, may_refuse_pictures
from agentcore.chat.turn.attachments.sending import ready_to_send
