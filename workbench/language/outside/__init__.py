"""Values from outside a program: columns of data sets, and answers of external objects. A
program says what it expects of them, and where; neither is here.
"""
