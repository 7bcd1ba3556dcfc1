print('It is sunny.')
