/**
 * What the documents of agentcore have in them, of whichever server: its page and its approval view. Nobody but the person acts
 * there: what a model did in them, it would do as the one who decides about it.
 */
export const OWN_PAGE = 'meta[name="agentcore-approval-origin"], meta[name="agentcore-page-origin"]';
