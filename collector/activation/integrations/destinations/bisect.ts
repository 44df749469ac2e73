import { DestinationError, failed, type Outcome, type OutgoingRecord } from './destination.ts'

/** Halves a request that is refused because of one record, until the bad record fails alone. */
export async function bisect(
  records: readonly OutgoingRecord[],
  send: (records: readonly OutgoingRecord[]) => Promise<readonly Outcome[]>,
): Promise<readonly Outcome[]> {
  try {
    return await send(records)
  } catch (error) {
    if (!(error instanceof DestinationError) || error.failureClass !== 'never') throw error
    if (records.length === 1) return [failed('never', error.message)]
    const middle = records.length >> 1
    return [
      ...(await bisect(records.slice(0, middle), send)),
      ...(await bisect(records.slice(middle), send)),
    ]
  }
}
