import { TextField } from '../../components/fields.tsx'

/** The most events that an archive copies, and charges, on a UTC day. */
export const DailyMaxField = () => (
  <TextField
    name="daily_records_max"
    label="Most events a day"
    hint="An hour that would exceed it waits for the next UTC day, and the owners get a mail."
    type="number"
    min={1}
    required
  />
)
