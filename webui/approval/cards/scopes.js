/** Scopes that the key of a paired client can have. */
export const SCOPES = ['approve', 'chat', 'tab'];
