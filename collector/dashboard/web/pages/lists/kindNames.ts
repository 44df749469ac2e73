import type { List } from '../../api.ts'

/** Short names of kinds of lists. */
export const kindNames: Record<List['kind'], string> = {
  emails: 'E-mail addresses',
  hems: 'Hashed e-mail addresses',
  domains: 'Company domains',
  cookies: 'Browsers',
}
