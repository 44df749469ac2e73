/** The service cannot start, for a reason whoever started it can mend. The message is one line that says how. */
export class StartError extends Error {}
