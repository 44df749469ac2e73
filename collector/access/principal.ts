export type Role = 'owner' | 'admin' | 'member'

/** Who is asking: what authentication found out, and all that later decisions may rest on. */
export interface Principal {
  readonly organizationId: string
  /** A project key reads and writes only this project; null for every other caller. */
  readonly projectId: string | null
  /** Test keys run the same routes against the sample database and are never billed. */
  readonly mode: 'live' | 'test'
  readonly caller:
    | { readonly kind: 'key'; readonly keyId: string }
    | { readonly kind: 'member'; readonly memberId: string; readonly role: Role }
}

/** One text for each caller: their rate limit's bucket, the log's word for them. */
export const callerId = ({ caller }: Pick<Principal, 'caller'>): string =>
  caller.kind === 'key' ? caller.keyId : caller.memberId
