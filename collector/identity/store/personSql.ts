/** SQL: the hem number that stands for a person, of one of theirs. */
export const personOf = (hemNumber: string): string =>
  `dictGetOrDefault('person_by_hem', 'person_number', tuple(${hemNumber}), ${hemNumber})`

/** SQL: all hem numbers of a person, of one of theirs. */
export const hemsOfPerson = (hemNumber: string): string =>
  `dictGetOrDefault('person_by_hem', 'hems', tuple(${hemNumber}), [${hemNumber}])`
