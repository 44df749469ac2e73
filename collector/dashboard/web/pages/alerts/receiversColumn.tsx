import type { Column } from '../../components/dataTable.tsx'
import { type Channels, type Receivers, receiversText } from './receivers.ts'

/** The column that says who gets the messages of each alert, with a warning where nobody does. */
export const receiversColumn = <Row extends Channels>(
  receivers: Receivers,
  type: Parameters<typeof receiversText>[2],
): Column<Row> => {
  const value = (alert: Row) => receiversText(alert, receivers, type) || 'Nobody'
  return {
    name: 'receivers',
    label: 'Receivers',
    value,
    show: (alert) =>
      value(alert) === 'Nobody' ? <span class="badge bad">Nobody</span> : value(alert),
  }
}
