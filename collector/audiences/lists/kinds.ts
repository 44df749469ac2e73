import { isUuid } from '../../../schemas/uuid.ts'
import { isEmail, isHem } from '../../platform/hem.ts'

export const kinds = ['emails', 'hems', 'domains', 'cookies'] as const
export type Kind = (typeof kinds)[number]

/** The column of list_members for the items of a kind; e-mail addresses are hashed. */
export const columnOf = {
  emails: 'hem_number',
  hems: 'hem_number',
  domains: 'company_domain',
  cookies: 'cookie_id',
} as const satisfies Record<Kind, string>

/** Default names of a file's column; responses use the first. */
export const usualNames: Readonly<Record<Kind, readonly [string, ...string[]]>> = {
  emails: ['email', 'e-mail', 'email_address', 'emails'],
  hems: ['hem', 'hashed_email', 'hems'],
  domains: ['domain', 'company_domain', 'domains'],
  cookies: ['cookie_id', 'cookie', 'cookies'],
}

/** Whether a text looks like an item of a kind, and so is not a column's name. */
export function isItem(kind: Kind, text: string): boolean {
  const item = text.trim()
  switch (kind) {
    case 'emails':
      return isEmail(item)
    case 'hems':
      return isHem(item.toLowerCase())
    case 'domains':
      return /^[^\s@/:.]+(\.[^\s@/:.]+)+$/.test(item)
    case 'cookies':
      return isUuid(item)
  }
}
