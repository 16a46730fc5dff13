"""What programs are measured against on a GPU: written as users of other libraries would."""
