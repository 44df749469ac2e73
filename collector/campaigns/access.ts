import type { Access } from '../access/access.ts'
import { bearerWriteAccess } from '../access/recordAccess.ts'

const { members: _, ...forKeys } = bearerWriteAccess
/** Who may deliver: as for other writes without members, for the DSP does it with a key. */
export const deliveryAccess: Access = forKeys
