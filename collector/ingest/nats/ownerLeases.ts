import type { Lease } from '../../platform/postgres/lease.ts'
import type { LeaseSource, ShipLease } from '../shipper/shipLeases.ts'

/**
 * Grants the leases of a stream's inserts to the owner of the log alone. `shared` is the lease that all shippers of events
 * share, with NATS and without; null for other tables.
 */
export const leasesOfOwner = (
  owner: Lease,
  stream: string,
  shared: LeaseSource | null,
): LeaseSource => (shared ? sharedLeases(owner, shared) : ownLeases(owner, stream))

const isOwner = (owner: Lease): Promise<boolean> =>
  owner.renew().then(
    () => true,
    () => false,
  )

/**
 * It checks the ownership under the shared lease. A next owner, which may insert the same rows, then waits for this lease,
 * and reads back what is stored.
 */
const sharedLeases = (owner: Lease, shared: LeaseSource): LeaseSource => ({
  batchPrefix: shared.batchPrefix,
  async acquire(ids) {
    const lease = await shared.acquire(ids)
    // Not an error: the deduplicator must learn the ids that came with the lease.
    return (await isOwner(owner)) ? lease : { ...lease, isHeld: () => false }
  },
  close: () => shared.close(),
})

function ownLeases(owner: Lease, stream: string): LeaseSource {
  // An insert of the previous owner, or one of ours that had no answer.
  let mayInsertsRun = true
  return {
    batchPrefix: `${stream}.`,
    async acquire(): Promise<ShipLease> {
      const mayOtherInsertsRun = mayInsertsRun
      mayInsertsRun = true
      const wasOwner = await isOwner(owner)
      return {
        idsOfOthers: new Uint32Array(),
        mayOtherInsertsRun,
        acquiredAt: Date.now(),
        isHeld: () => wasOwner && !owner.signal.aborted,
        release: async () => {
          mayInsertsRun = false
        },
        abandon: () => {},
      }
    },
    close: () => {},
  }
}
