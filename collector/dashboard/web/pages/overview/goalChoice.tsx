import { setUrl, urlValue } from '../../urlState.ts'

const parameter = 'goal'

/** Returns the goal in the address, whose conversions panels show. Call it during rendering. */
export const chosenGoal = (): string | undefined => urlValue(parameter) || undefined

/** Chooses the goal. */
export function GoalChoice({ goals }: { goals: readonly { name: string }[] }) {
  const chosen = chosenGoal()
  return (
    <select
      aria-label="Goal"
      value={chosen ?? ''}
      onChange={({ currentTarget: { value } }) => setUrl({ [parameter]: value })}
    >
      <option value="">No goal</option>
      {goals.map(({ name }) => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
    </select>
  )
}
