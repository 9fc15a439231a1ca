/** The built-in prompt of an option. A line whose only placeholder is empty is left out. */
export const explorationTemplate = `{{objective}}

# How this works

{{place}}

A candidate is made of these paths in that folder:

{{candidate}}

{{protected}}

Commands, from anywhere in that folder:

{{commands}}

{{feedback}}

{{records}}

# Where things stand

{{time}}
{{cap}}
{{standing}}
{{ended}}
`;

/** The built-in prompt of the final review. */
export const reviewTemplate = `{{objective}}

# Your part now: choose the final candidate

The work on this is over. Of the candidates below one becomes the final result, and you choose it. Nothing can be changed or submitted any more.

{{place}}

{{metric}}

The candidates, oldest first:

{{ballot}}

{{feedback}}

{{nominate}}
{{time}}
{{standing}}
`;
