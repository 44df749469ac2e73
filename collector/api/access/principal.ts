export type Role = 'owner' | 'admin' | 'member'
export type ProjectRole = 'admin' | 'member'

/**
 * Roles of keys, lowest first; each includes the previous ones. `write` changes records such as campaigns,
 * but administers nothing. `admin` and `owner` have the rights of members with these roles, in the key's
 * scope.
 */
export const keyRoles = ['read', 'write', 'admin', 'owner'] as const
export type KeyRole = (typeof keyRoles)[number]

/** The authenticated caller, with all facts that later decisions use. */
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
        /** Whether the identity provider authenticated the session, which then has one organization. */
        readonly byProvider?: boolean
      }
    | {
        /** A caller with a share link: it has no role, and reads the routes that shareLinks.ts lists. */
        readonly kind: 'share'
        readonly shareId: string
        /** The only pixel that the link can read; null: all pixels of its project. */
        readonly pixelId: string | null
        /** Filters that all its figures meet, as the parameter `filter` has them; null: none. */
        readonly filter: string | null
        readonly hasGoals: boolean
      }
}

/** Returns the text that identifies a caller in rate limits and the log. */
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
