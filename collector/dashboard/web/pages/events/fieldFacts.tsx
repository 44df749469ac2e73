import { labelOfField } from '../../view/labels.ts'
import { textOfValue } from './eventRow.ts'

/** The known fields of an event or a person by their labels. Tooltips have the names of the API. */
export function FieldFacts({ row }: { row: Readonly<Record<string, unknown>> }) {
  return (
    <dl class="facts">
      {Object.entries(row).map(([name, value]) => {
        const text = textOfValue(value)
        return (
          text !== null && (
            <div key={name}>
              <dt title={name}>{labelOfField(name)}</dt>
              <dd>{text}</dd>
            </div>
          )
        )
      })}
    </dl>
  )
}
