"""What is asked, frozen: canaries, cells and the numbers a verdict is designed with. Nothing here runs or judges."""
