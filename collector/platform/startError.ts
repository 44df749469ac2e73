/**
 * The service cannot start, for a reason that the user can fix. The message is one line that says how to fix
 * it.
 */
export class StartError extends Error {}
