"""Files that users attach to messages, as models get them; stored in the history by reference."""

from agentcore.chat.turn.attachments.attachment_content import (
    AttachedFiles,
    attachment_of,
    attachments_of,
    tag_attachment,
    user_text_of,
)
from agentcore.chat.turn.attachments.image_loading import (
    list_images,
    may_refuse_images,
    mentions_images,
    prepare_to_send,
)
