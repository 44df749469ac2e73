import { Checkbox } from '../../components/fields.tsx'
import type { Values } from '../../components/form.tsx'

/** Asks whether visitors are in Europe, in the form of a new pixel. */
export const EuropeField = () => (
  <Checkbox
    name="in_europe"
    label="Visitors are in Europe"
    hint="They get no id until your consent banner reports their consent. You can change this later."
  />
)

/** The field at first: where the creator is, the visitors probably are. */
export const europeValues: Values = {
  in_europe: new Intl.DateTimeFormat().resolvedOptions().timeZone.startsWith('Europe/') ? 'on' : '',
}

/** The settings of the new pixel. */
export const settingsFor = ({ in_europe }: Values) =>
  in_europe ? { settings: { consent: 'cookieless' as const } } : {}
