export type Role = 'owner' | 'admin' | 'member'
/** What a member may do in a project that they belong to. */
export type ProjectRole = 'admin' | 'member'

/**
 * What a key may do, from least to most; each may what those before it may. `write` changes records such as campaigns
 * and administers nothing; `admin` and `owner` are what the members of these names may, in the key's scope.
 */
export const keyRoles = ['read', 'write', 'admin', 'owner'] as const
export type KeyRole = (typeof keyRoles)[number]

/** Who is asking: what authentication found out, and all that later decisions may rest on. */
export interface Principal {
  readonly organizationId: string
  /** A project key reads and writes only this project; null for every other caller. */
  readonly projectId: string | null
  /** Test keys run the same routes against the sample database and are never billed. */
  readonly mode: 'live' | 'test'
  readonly caller:
    | { readonly kind: 'key'; readonly keyId: string; readonly role: KeyRole }
    | {
        readonly kind: 'member'
        readonly memberId: string
        readonly role: Role
        /** Whether the organization's provider speaks for the member, and for this organization alone. */
        readonly byProvider?: boolean
      }
    | {
        /** Whoever has a share link: has no role, and reads what shareLinks.ts lists. */
        readonly kind: 'share'
        readonly shareId: string
        /** The only pixel that it reads; null: all of its project's. */
        readonly pixelId: string | null
      }
}

/** One text for each caller: their rate limit's bucket, the log's word for them. */
export function callerId({ caller }: Pick<Principal, 'caller'>): string {
  switch (caller.kind) {
    case 'key':
      return caller.keyId
    case 'member':
      return caller.memberId
    default:
      return caller.shareId
  }
}
