"""What a layer does in one operation: products with a bias, normalisation, dropout, tables, recurrence, attention."""
