/** An e-mail address as it is compared and stored: trimmed and lower-cased. */
export const normalizedEmail = (email: string): string => email.trim().toLowerCase()
