import { DestinationError, failed, type Outcome, type OutgoingRecord } from './destination.ts'

/**
 * Sends records to a destination that refuses a whole request for one record in it: halves what it refuses, so that
 * each record that stands in the way is found and fails alone.
 */
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
