import type { Access } from '../../api/access/access.ts'
import { bearerWriteAccess } from '../../api/access/recordAccess.ts'

const { members: _, ...forKeys } = bearerWriteAccess
/** Who may deliver: as for other writes without members, for the DSP does it with a key. */
export const deliveryAccess: Access = forKeys
