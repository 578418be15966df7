"""What several commands share: options, output, their longer verbs."""
