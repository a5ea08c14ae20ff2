/** What the key of a paired client can be for. */
export const SCOPES = ['approve', 'chat', 'tab'];
