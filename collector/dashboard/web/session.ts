import { signal } from '@preact/signals'
import type { Session } from '../../api/client/index.ts'

/** The session; null: not signed in; undefined: not loaded yet. */
export const session = signal<Session | null | undefined>(undefined)

/** The session, on pages that require one. A hook. */
export const useSession = (): Session => session.value!

/** Whether the member is an owner or admin, who has the rights of a project admin in every project. */
export const isOrganizationAdmin = ({ member }: Session): boolean => member.role !== 'member'
