/** What the panel may use of the server: chats and what belongs to them. The rest is done in agentcore's page. */
export const abilities = {commands: false, files: false, setup: false};
