/** The features of the server that the panel uses: chats and what belongs to them. Everything else is in agentcore's page. */
export const abilities = {commands: false, files: false, setup: false};
