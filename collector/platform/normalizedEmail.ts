/** Returns the form in which e-mail addresses are compared and stored: trimmed and lower-cased. */
export const normalizedEmail = (email: string): string => email.trim().toLowerCase()
