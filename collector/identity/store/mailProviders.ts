import providers from 'email-providers'

/** Domains of public mail providers, whose addresses belong to no company. */
export const mailProviders: readonly string[] = providers
