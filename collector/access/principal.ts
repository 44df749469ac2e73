/** Who is asking: what authentication found out, and all that later decisions may rest on. */
export interface Principal {
  readonly organizationId: string
  /** A project key reads and writes only this project; null for an organization key. */
  readonly projectId: string | null
  readonly keyId: string
  /** Test keys run the same routes against the sample database and are never billed. */
  readonly mode: 'live' | 'test'
}
