/**
 * Words and phrases that readers have to decode, with what to write instead. `allow` has the uses that are plain
 * English. Patterns are matched without regard to case.
 */
export const avoid = [
  {
    words: /\b(is|are|was|were|be|been|being) told\b|\btold of\b|\btells? (of|it)\b/,
    use: 'report, notify, say',
  },
  { words: /\bstands? (in|there|for itself|at|on|under)\b|\bthere stands?\b/, use: 'is in, is at' },
  { words: /\banew\b/, use: 'again' },
  { words: /\bbesides?\b/, use: 'also, next to, in addition to' },
  { words: /\b(is|are|be|was|were) to be had\b|\bto be had\b/, use: 'is available' },
  {
    words: /\b(takes?|taking|took|in) the place of\b|\b(takes?|taking|took) (its|their) place\b/,
    use: 'replace',
  },
  { words: /\bby turns\b/, use: 'alternately' },
  { words: /\bmend(s|ed|ing)?\b/, use: 'fix, repair' },
  {
    words: /\bwhole\b/,
    allow:
      /\bwhole (number|second|minute|hour|day|week|month|file|page|body|document|row|table|word|line|request|answer|service|screen|organization|text|column|segment|array|list|site)s?\b|\bas a whole\b/g,
    use: 'complete, entire, all',
  },
  { words: /\bgone\b/, allow: /\b410 Gone\b|\bGone\b/g, use: 'deleted, removed, disconnected' },
  {
    words: /\b(it|that|which|this|they|who|one) goes?\b|\bgoes? (for|with|at once|away)\b/,
    use: 'is sent, is removed, applies',
  },
  { words: /\b(does|do|did|doing|goes|go) without\b/, use: 'work without, not need' },
  { words: /\bas none\b|\bas nothing\b/, use: 'is ignored' },
  { words: /\bwho(so)?ever\b|\bwhomever\b/, use: 'a user who, any caller that' },
  {
    words: /\bwhichever\b|\bwherefore\b|\bthereof\b|\bwhereof\b|\btherein\b|\bherein\b/,
    use: 'name the thing',
  },
  {
    words:
      /\b(of|from|in|with|by|for|to|and|than|on|after|before|at|about) what (is|are|was|were|it|they|he|the|we|you|a)\b/,
    use: 'name the thing',
  },
  {
    words:
      /(^|[.:;] )What (is|are|was|were|it|they|the|we|you|a|this|that|its|makes|has|comes|came)\b(?![^.?]*\?)/,
    use: 'name the thing',
  },
  {
    words:
      /\bwhose [\w’' -]{2,40} (is|are|was|were|it|they|these) (at|in|these|it|they)?\b(?= *[.,;)]|$)/,
    use: 'name the owner',
  },
  { words: /(^|[.:;] )Whose\b(?![^.?]*\?)/, use: 'name the owner' },
  {
    words: /\b(is|are|was|were) (asked|looked) (for|at|of|after|up)?\b(?= *[.,;:)]|$)/,
    use: 'active verb and object',
  },
  { words: /\bno longer good\b|\bgood no longer\b|\bof yours\b/, use: 'invalid, your' },
  {
    words: /\bhas? (it|them) that\b|\bmay not be\b.*\bnor\b|\bthe (latter|former)\b/,
    use: 'name the thing',
  },
  { words: /\bof (before|then|now|itself alone|late)\b/, use: 'earlier, previous' },
  { words: /\b(and|but) nowhere else\b|\bnowhere\b/, use: 'only in' },
  { words: /\bmeets? with\b|\bthe like\b|\bsuch as it is\b|\bas it is said\b/, use: 'plain words' },
  {
    words: /\b(lest|ere|hence|thus|whence|thence|hitherto|amid|upon|whilst|nought|naught|aught)\b/,
    use: 'so, on, while',
  },
  { words: /\bis (said|meant|wanted)\b|\bare (said|meant|wanted)\b/, use: 'active verb' },
  {
    words:
      /\butili[sz]e(s|d)?\b|\bin order to\b|\bsimply\b|\bjust\b|\bobviously\b|\bof course\b|\beasily\b/,
    use: 'use, to, or nothing',
  },
  {
    words:
      /\b(recieve|seperate|occured|teh|adress|wich|dependant|existant|definately|neccessary|succesful|untill|lenght|begining)\w*\b/,
    use: 'the right spelling',
  },
]

/** The most words of a sentence. */
export const wordsMax = 25
