declare module 'email-providers' {
  /** Domains of public mail providers. */
  const domains: readonly string[]
  export default domains
}
