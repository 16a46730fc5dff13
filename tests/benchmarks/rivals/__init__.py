"""What programs are measured against: written as users of other libraries would."""
