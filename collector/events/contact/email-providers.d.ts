declare module 'email-providers' {
  /** Domains at which anybody can have an address. */
  const domains: readonly string[]
  export default domains
}
